import { copy, finish } from './copy';
import { MemoryChannel } from './ports';

const source = new MemoryChannel();
const sink = new MemoryChannel();
source.write('a');
copy(source, sink);
finish(sink);
