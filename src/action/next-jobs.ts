import type { AskingJobs } from '../engine/actions/session.ts'
import { UserError } from '../errors.ts'
import { isDryRun, type Inputs } from './inputs.ts'

const JOBS = ['measure', 'propose', 'judge']

/** Which of the jobs that can follow on a tick this workflow file has. */
export function readNextJobs(inputs: Inputs): AskingJobs {
  const named = inputs['next-jobs'].split(/[\s,]+/).filter(name => name !== '')
  const unknown = named.find(name => !JOBS.includes(name))
  if (unknown !== undefined) throw createNextJobsError(`the input next-jobs names ${JSON.stringify(unknown)}`)
  // A dry run hands nothing to anybody.
  if (!named.includes('measure') && !isDryRun(inputs))
    throw createNextJobsError(
      'the input next-jobs does not name measure: no job would measure what this tick orders',
    )
  return { propose: named.includes('propose'), judge: named.includes('judge') }
}

function createNextJobsError(what: string): UserError {
  return new UserError(what, {
    fix: `name the jobs of this workflow file that follow: ${JOBS.join(', ')}; winnow init --github writes it`,
  })
}
