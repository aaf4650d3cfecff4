export function slug(title: string): string {
  return lower(title).replace(' ', '-');
}

export function lower(text: string): string {
  return text.toLowerCase();
}
