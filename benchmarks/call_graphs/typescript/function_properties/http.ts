export interface Fetcher {
  (url: string): string;
  get(url: string): string;
}

const request = (method: string, url: string): string => `${method} ${url}`;

function fetcher(url: string): string {
  return request('ANY', url);
}

fetcher.get = function get(url: string): string {
  return request('GET', url);
};

export const http: Fetcher = fetcher;
