export interface Carrier {
  readonly name: string;
  price(weight: number): number;
}

export const post: Carrier = {
  name: 'post',
  price(weight) {
    return flat(weight);
  },
};

export const courier: Carrier = {
  name: 'courier',
  price: (weight) => flat(weight) * 2,
};

const flat = (weight: number): number => weight + 3;

export const carriers = [post, courier];
