import { renderToString } from 'react-dom/server';
import App from './App';

export function page(): string {
  return renderToString(<App />);
}

page();
