import { Queue } from './queue';

const queue = new Queue<number>();
queue.push(1);
console.log(queue.size);
