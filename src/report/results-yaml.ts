import { stringify } from 'yaml'
import type { Results } from './results.ts'

/** The file that an experiment's branch ends with, the ledger holds, and `winnow results` prints. */
export function renderResultsYaml(results: Results): string {
  return stringify(results, { lineWidth: 100, aliasDuplicateObjects: false })
}

/** Where it stands in the commit on top of the measured head. */
export function buildResultsPath(spec: string, experiment: string): string {
  return `.winnow/results/${spec}/${experiment}/results.yaml`
}
