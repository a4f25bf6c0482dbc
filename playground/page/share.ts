// The text in the fragment of the address: the part behind `#`, which a browser sends to nobody.
import type { About } from './answers';

/** Letters of a text at most, as the engine takes them. A link may hold less than it says, or a bomb. */
const LONGEST = 1 << 20;

function base64(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The fragment that stands for a text. */
export async function fragment({ text, version }: About): Promise<string> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const parts = new URLSearchParams({ text: base64(new Uint8Array(await new Response(packed).arrayBuffer())) });
  if (version) parts.set('version', version);
  return `#${parts}`;
}

/** The text that a fragment stands for, if it is one of ours. An error says why it cannot be read. */
export async function shared(fragment: string): Promise<About | undefined> {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const packed = parts.get('text');
  if (packed === null) return undefined;
  try {
    const letters = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
      .pipeThrough(new TextDecoderStream('utf-8', { fatal: true })).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      if (text.length > LONGEST) throw new Error('it is too long');
    }
    return { text, version: parts.get('version') };
  } catch (error) {
    throw new Error(`the text in this link cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
