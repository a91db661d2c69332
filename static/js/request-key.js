// A name for one attempt to send: the server answers the same name with the same turn, however often it hears it.
export function newRequestKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Pages served over plain http from another machine have no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
