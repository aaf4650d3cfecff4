export enum Level {
  Low = 1,
  High = 2,
}

export namespace Level {
  export function parse(text: string): Level {
    return text === 'high' ? Level.High : Level.Low;
  }

  export function label(level: Level): string {
    switch (level) {
      case Level.Low:
        return lowest();
      case Level.High:
        return 'high';
    }
  }
}

function lowest(): string {
  return 'low';
}
