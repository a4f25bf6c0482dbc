export type Engine = (question: string) => string;
export function load(module: WebAssembly.Module): Promise<Engine>;
