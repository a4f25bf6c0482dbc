// What hovers and offers say, as elements. Only what their Markdown uses, and never HTML of the text.

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\((https?:\/\/[^)\s]+)\)|_([^_]+)_(?!\w)/g;

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text = ''): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function inline(into: HTMLElement, text: string): void {
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, label, url, emphasis] = match;
    into.append(text.slice(end, match.index));
    if (code !== undefined) into.append(element('code', code));
    else if (strong !== undefined) into.append(element('strong', strong));
    else if (emphasis !== undefined) into.append(element('em', emphasis));
    else {
      const link = element('a', label);
      link.href = url ?? '';
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
      into.append(link);
    }
    end = match.index + whole.length;
  }
  into.append(text.slice(end));
}

/** The Markdown `text` as one element. */
export function markdown(text: string): HTMLElement {
  const whole = element('div');
  whole.className = 'markdown';
  let block: HTMLElement | undefined;
  let fence: string[] | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) {
      if (fence) whole.append(element('pre', fence.join('\n')));
      fence = fence ? undefined : [];
      block = undefined;
    } else if (fence) {
      fence.push(line);
    } else if (/^\s*$/.test(line)) {
      block = undefined;
    } else if (/^---+$/.test(line)) {
      whole.append(element('hr'));
      block = undefined;
    } else if (/^\s*[-*] /.test(line)) {
      if (block?.tagName !== 'UL') whole.append(block = element('ul'));
      const item = element('li');
      inline(item, line.replace(/^\s*[-*] /, ''));
      block.append(item);
    } else if (/^#+ /.test(line)) {
      block = undefined;
      const title = element('strong');
      inline(title, line.replace(/^#+ /, ''));
      whole.append(title);
    } else {
      if (block?.tagName !== 'P') whole.append(block = element('p'));
      if (block.hasChildNodes()) block.append(line.startsWith('  ') ? element('br') : ' ');
      inline(block, line.trim());
    }
  }
  if (fence) whole.append(element('pre', fence.join('\n')));
  return whole;
}
