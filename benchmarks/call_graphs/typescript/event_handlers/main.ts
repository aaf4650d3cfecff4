import { Emitter } from './emitter';

interface ChatEvents extends Record<string, unknown> {
  message: string;
  leave: { name: string };
}

class Chat {
  private readonly events = new Emitter<ChatEvents>();
  private lines: string[] = [];

  private readonly mute: () => void;

  constructor() {
    this.mute = this.events.on('message', this.onMessage);
    this.events.on('leave', (event) => this.onLeave(event.name));
  }

  say(text: string): void {
    this.events.emit('message', text);
  }

  leave(name: string): void {
    this.events.emit('leave', { name });
    this.mute();
  }

  private onMessage = (text: string): void => {
    this.append(text);
  };

  private onLeave(name: string): void {
    this.append(`${name} left`);
  }

  private append(line: string): void {
    this.lines.push(line);
  }
}

const chat = new Chat();
chat.say('hi');
chat.leave('bob');
