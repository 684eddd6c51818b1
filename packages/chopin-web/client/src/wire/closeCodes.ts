/** Why the server closes a document's socket. The Python side keeps the same list; a test there compares the two. */
export const closeCodes = {
  RejectedTooOften: 4003,
  AccessLost: 4403,
  Deleted: 4404,
  RateExceeded: 4429,
  MessageTooBig: 1009,
  InternalError: 1011,
  Restart: 1012,
  TooSlow: 1013,
} as const;
