/** Asks for the task: it runs once what is under way has had its turn, and once, however often it was asked for till then. */
export function soon(task: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      task();
    });
  };
}
