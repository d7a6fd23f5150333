/** How a call ended. */
export const OK = { kind: 0, status: 0 };
export const WRONG_ANSWER = { kind: 1, status: 0 };
/** With the protocol's status. */
export const status = (status) => ({ kind: 2, status });
export const TIMEOUT = { kind: 3, status: 0 };
export const TRANSPORT = { kind: 4, status: 0 };
export const NOT_SENT = { kind: 5, status: 0 };
