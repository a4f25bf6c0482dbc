/** How long an event may take, in milliseconds. It bounds a hang, whatever else the machine does. */
export const PATIENCE = 300_000;
