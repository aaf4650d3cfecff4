class Widget {
  render(): string {
    return this.draw();
  }
  protected draw(): string {
    return 'widget';
  }
}

class Label extends Widget {
  setText(text: string): void {
    void text;
  }
  protected override draw(): string {
    return 'label';
  }
}

const registry = new Map<string, Widget>();
registry.set('label', new Label());

export function update(name: string): string {
  const widget = registry.get(name)!;
  (widget as Label).setText('x');
  return widget.render();
}

function make(): unknown {
  return new Label();
}

update('label');
(<Label>make()).setText('y');
