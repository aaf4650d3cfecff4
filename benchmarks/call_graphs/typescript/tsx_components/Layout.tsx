import type { ReactNode } from 'react';

export function Page(props: { title: string; children: ReactNode }) {
  return (
    <main>
      <Title text={props.title} />
      {props.children}
    </main>
  );
}

const Title = (props: { text: string }) => <h1>{props.text}</h1>;
