import type { Spec } from './schema.ts'

type TaskSections = { measurement: Pick<Spec['measurement'], 'suite' | 'per_case' | 'stability'> }

/** Each task is a pair of its own: the tasks of a suite, or those that one execution prints. */
export function isPairedByTask({ measurement }: TaskSections): boolean {
  const { suite, per_case, stability } = measurement
  return stability === null && (suite !== null || per_case === true)
}

export type SuiteTask = NonNullable<Spec['measurement']['suite']>['tasks'][number]

export function findSuiteTask({ measurement }: Pick<Spec, 'measurement'>, name: string): SuiteTask | null {
  return measurement.suite?.tasks.find(task => task.name === name) ?? null
}
