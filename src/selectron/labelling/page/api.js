// Calls of the server. A call that is refused says why; one that does not arrive is Offline.

export class Refused extends Error {
  constructor(status, error, remedy, retryAfter) {
    super(error);
    this.status = status;
    this.remedy = remedy;
    this.retryAfter = retryAfter;
  }
  get temporary() {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

export class Offline extends Error {}

export async function call(method, path, body) {
  const options = { method, credentials: "same-origin", cache: "no-store", headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.timeout(20000) });
  } catch (error) {
    throw new Offline(String(error));
  }
  const reply = await response.json().catch(() => ({}));
  if (!response.ok) {
    const wait = Number(response.headers.get("Retry-After")) || 1;
    throw new Refused(response.status, reply.error ?? "the call failed", reply.remedy ?? "try again", wait);
  }
  return reply;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "p-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
