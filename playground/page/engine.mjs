// Calls the functions that `src/exports.rs` exports.

/**
 * Starts the engine: a function from a question to its answer, both JSON. After an error that it throws it is of no use
 * any more.
 * @param {WebAssembly.Module} module
 * @returns {Promise<import('./engine.mjs').Engine>}
 */
export async function load(module) {
  const { exports } = await WebAssembly.instantiate(module, {});
  const { memory, question, answer, answered } = exports;
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  return (asked) => {
    const bytes = encoder.encode(asked);
    // The memory may have grown, and then its old buffer is empty: it is asked for each time.
    const place = question(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const length = answer();
    return decoder.decode(new Uint8Array(memory.buffer, answered(), length));
  };
}
