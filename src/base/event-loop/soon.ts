/** Returns a function that schedules `task` for the next turn of the event loop; calls until then run it only once. */
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
