// Enter sends, Shift+Enter breaks the line.
// Input methods for Japanese, Chinese or Korean choose words with Enter; Safari tells so by the key code alone.
export function sends(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;
}
