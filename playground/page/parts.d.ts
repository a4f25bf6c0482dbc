// What build.mjs puts in.
declare module 'llsd:samples' {
  /** The samples of the repository, by their names. */
  const samples: Record<string, string>;
  export default samples;
}
declare module 'llsd:worker' {
  /** The script of the worker. */
  const script: string;
  export default script;
}
