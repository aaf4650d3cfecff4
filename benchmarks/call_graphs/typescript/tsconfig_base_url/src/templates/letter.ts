export function render(): string {
  return 'dear';
}
