// The addresses a link in a reply may have: as on the server, no script and no data.
const ALLOWED = new Set(["http:", "https:", "mailto:"]);

export function safeAddress(written) {
  try {
    const address = new URL(written);
    return ALLOWED.has(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}
