/** Unix seconds as both APIs and the log write a time: in RFC 3339, in UTC, with milliseconds. */
export const dateTime = (seconds: number): string => new Date(seconds * 1000).toISOString();
