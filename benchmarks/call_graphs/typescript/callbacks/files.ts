type Done = (error: Error | null, text?: string) => void;

export function readText(path: string, done: Done): void {
  if (!path) {
    done(new Error('no path'));
    return;
  }
  done(null, path);
}

export function eachLine(text: string, visit: (line: string, index: number) => void): void {
  text.split('\n').forEach(visit);
}
