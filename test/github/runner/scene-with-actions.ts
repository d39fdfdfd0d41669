import type { RunRecord } from '../emulator/world.ts'
import { type Scene, scene } from '../scene.ts'
import { type Actions, startActions } from './actions.ts'
import type { JobRecord } from './records.ts'
import type { SchedulerOptions } from './scheduler.ts'

export interface ActionsScene extends Scene {
  ada: string
  actions: Actions
  /** A person starts a workflow by hand, and waits until everything rests. */
  dispatch(file: string, inputs?: Record<string, string>): Promise<RunRecord>
  /** The newest run of a workflow. */
  run(file: string): RunRecord
  /** Its jobs as `name: conclusion`. */
  results(run: RunRecord): string[]
  job(run: RunRecord, name: string): JobRecord
}

/** A repository whose default branch has these workflows, on an emulated GitHub that runs them. */
export async function sceneWithActions(
  workflows: Record<string, string>,
  options: Partial<SchedulerOptions> = {},
  files: Record<string, string> = {},
): Promise<ActionsScene> {
  const it = await scene()
  const ada = it.github.token('ada')
  const entries = Object.entries(workflows).map(([name, text]) => [`.github/workflows/${name}`, text])
  it.commit('main', { ...Object.fromEntries(entries), ...files })
  const actions = startActions(it.github, options)
  await it.github.settle()
  const run = (file: string) => {
    const found = it.github.world.runs.findLast(({ path }) => path.endsWith(`/${file}`))
    if (!found) throw new Error(`${file} has no run`)
    return found
  }
  return {
    ...it,
    ada,
    actions,
    run,
    async dispatch(file, inputs = {}) {
      const { status, body } = await it.ask(ada, `POST /actions/workflows/${file}/dispatches`, {
        ref: 'main',
        inputs,
      })
      if (status >= 300) throw new Error(JSON.stringify(body))
      await actions.rest()
      return run(file)
    },
    results: of =>
      (of.refusal ? [of.refusal] : []).concat(
        actions.jobsOf(of).map(({ name, conclusion }) => `${name}: ${conclusion}`),
      ),
    job(of, name) {
      const found = actions.jobsOf(of).findLast(each => each.name === name)
      if (!found) throw new Error(`no job is called ${name}: ${of.refusal}`)
      return found
    },
  }
}
