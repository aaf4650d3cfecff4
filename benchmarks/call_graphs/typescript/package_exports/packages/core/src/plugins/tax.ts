export const addTax = (amount: number): number => amount * 1.2;
