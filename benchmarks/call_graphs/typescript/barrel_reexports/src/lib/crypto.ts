export async function hash(text: string): Promise<string> {
  return text.split('').reverse().join('');
}
