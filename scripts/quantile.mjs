/** Returns a quantile of unordered values, interpolated between neighbours. */
export function quantile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}
