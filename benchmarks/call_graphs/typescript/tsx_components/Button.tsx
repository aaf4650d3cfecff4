import type { ReactNode } from 'react';

export interface ButtonProps {
  onPress: () => void;
  children?: ReactNode;
}

export function Button({ onPress, children }: ButtonProps) {
  const press = () => {
    onPress();
  };
  return <button onClick={press}>{children}</button>;
}

export const Icon = ({ name }: { name: string }) => <i className={classFor(name)} />;

function classFor(name: string): string {
  return `icon-${name}`;
}
