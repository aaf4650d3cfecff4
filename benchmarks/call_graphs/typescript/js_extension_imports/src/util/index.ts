export { slug } from './text.js';
