/** From a value to its place on paper, and the round values between which people read. */
export interface ChartScale {
  at: (value: number) => number
  ticks: number[]
}

const STEPS = [1, 2, 2.5, 5, 10]

/** Values are spread over `from`..`to` with a little air around; one value alone lies in the middle. */
export function buildChartScale(
  values: readonly number[],
  { from, to }: { from: number; to: number },
): ChartScale {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  const air = high > low ? (high - low) * 0.08 : Math.abs(high) * 0.5 || 1
  const [first, last] = [low - air, high + air]
  return {
    at: value => from + ((value - first) / (last - first)) * (to - from),
    ticks: listChartTicks(first, last, 5),
  }
}

/** At most `most` round values in a range. */
export function listChartTicks(first: number, last: number, most: number): number[] {
  const raw = (last - first) / most
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = (STEPS.find(each => each * power >= raw) ?? 10) * power
  const count = Math.floor(last / step) - Math.ceil(first / step) + 1
  const lowest = Math.ceil(first / step)
  // Multiples of the step, not sums of it: sums drift.
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    Number(((lowest + index) * step).toPrecision(12)),
  )
}
