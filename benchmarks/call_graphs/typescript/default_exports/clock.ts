export default function now(): number {
  return Date.now();
}
