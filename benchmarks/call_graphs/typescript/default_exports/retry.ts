const retry = async (times: number, work: () => Promise<number>): Promise<number> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= times) throw error;
    }
  }
};

export default retry;
