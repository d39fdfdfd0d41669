import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import type { ActionEnv } from './inputs.ts'

const dispatched = z.object({ inputs: z.object({ title: z.string().optional() }).nullable().optional() })

/** What the run of this job was called by the run that started it; empty where another event started it. */
export function readDispatchTitle({
  GITHUB_EVENT_NAME: event,
  GITHUB_EVENT_PATH: file = '',
}: ActionEnv): string {
  if (event !== 'workflow_dispatch') return ''
  try {
    return dispatched.parse(JSON.parse(readFileSync(file, 'utf8'))).inputs?.title ?? ''
  } catch (error) {
    throw new UserError('GITHUB_EVENT_PATH names no event of a run that was started', {
      fix: 'start this job by workflow_dispatch as winnow init --github writes it; the runner sets the path',
      cause: error,
    })
  }
}
