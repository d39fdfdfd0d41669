import type { Random } from './random.ts'

/** How often a task passes: a third of them hard, a third even, a third easy. */
const CHANCES = [0.1, 0.5, 0.85]

/** A suite of tasks that pass by chance, for a base and for a candidate that passes more or less often. */
export interface SuiteRun {
  tasks: number
  basePass: () => number[]
  candidatePass: () => number[]
  /** Both sides on the same tasks, in random order of tasks. */
  differencesOfPass: () => number[]
}

export function suiteRun(tasks: number, effect: number, random: Random): SuiteRun {
  const chances = Array.from({ length: tasks }, (_, index) => CHANCES[index % CHANCES.length] ?? 0)
  const run = (chance: number) => (random.fraction() < chance ? 1 : 0)
  return {
    tasks,
    basePass: () => chances.map(run),
    candidatePass: () => chances.map(chance => run(chance + effect)),
    differencesOfPass: () => random.shuffled(chances).map(chance => run(chance + effect) - run(chance)),
  }
}
