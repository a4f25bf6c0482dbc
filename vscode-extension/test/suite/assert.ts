// What the tests need of `node:assert/strict`, for an extension host without Node.js.
function fail(message: string | undefined, otherwise: string): never {
  throw new Error(message ?? otherwise);
}

/** The same for values that are equal, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'object' && part !== null && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
    : part));
}

export function ok(value: unknown, message?: string): asserts value {
  if (value === undefined || value === null || value === false || value === '' || value === 0) fail(message, 'it is not so');
}

export function equal(one: unknown, other: unknown, message?: string): void {
  if (!Object.is(one, other)) fail(message, `${String(one)} is not ${String(other)}`);
}

export function deepEqual(one: unknown, other: unknown, message?: string): void {
  if (canonical(one) !== canonical(other)) fail(message, `${canonical(one)} is not ${canonical(other)}`);
}

export function match(text: string, pattern: RegExp, message?: string): void {
  if (!pattern.test(text)) fail(message, `${text} does not match ${String(pattern)}`);
}

export function doesNotMatch(text: string, pattern: RegExp, message?: string): void {
  if (pattern.test(text)) fail(message, `${text} matches ${String(pattern)}`);
}
