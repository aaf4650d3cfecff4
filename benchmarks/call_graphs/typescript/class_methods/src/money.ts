export function formatMoney(cents: number): string {
  return pad(cents / 100);
}

function pad(value: number): string {
  return value.toFixed(2);
}
