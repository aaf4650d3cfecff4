import { eachLine, readText } from './files';

let count = 0;

function onLine(line: string): void {
  count += line.length;
}

function onRead(error: Error | null, text = ''): void {
  if (error) return report(error);
  eachLine(text, onLine);
}

const report = (error: Error): void => console.error(error.message);

readText('a', onRead);
readText('', onRead);
readText('b', (error, text) => {
  if (!error) onLine(text!);
});
