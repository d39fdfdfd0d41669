import { parsedWorkflow, type Job, type Step, stepsOfAction, type Workflow } from './parsed.ts'

/** One thing that is wrong with a workflow file, and where. */
export interface Finding {
  rule: string
  where: string
}

type Rule = (file: { workflow: Workflow; text: string }) => string[]

/** What people can write into a pull request, a comment, a branch name or an input. */
const FROM_OUTSIDE =
  /\$\{\{[^}]*(?:github\.event|github\.head_ref|github\.ref|inputs|steps|needs|matrix|env)\b/
const WRITES = 'write'
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/
/** What may be called: beside the caller at its own commit, or in another repository at a named one. */
const CALL =
  /^(?:\.|[\w.-]+\/[\w.-]+)\/\.github\/workflows\/reusable-(?<command>tick|measure)\.yml(?<at>@[0-9a-f]{40})?$/
const HANDED_OVER: Readonly<Record<string, RegExp>> = {
  campaign: /^[a-z0-9-]+$/,
  order: /^\$\{\{ inputs\.order \}\}$/,
  'runs-on': /^[^$]+$/,
  users: /^(?:true|false)$/,
  'may-ask': /^true$/,
  'may-judge': /^true$/,
}
const COMMAND = /^(?:tick|run|report)$/
const ASKS = /^(?:propose|judge)$/
const WRITES_LEDGER = /^(?:tick|run)$/

const jobsOf = ({ jobs }: Workflow) => Object.entries(jobs)
const stepsOf = (workflow: Workflow) =>
  jobsOf(workflow).flatMap(([name, { steps }]) => steps.map(step => ({ name, step })))
const granted = ({ permissions }: Job): Record<string, string> =>
  typeof permissions === 'string' ? { everything: permissions } : (permissions ?? {})
const commandIn = ({ steps, uses }: Job) => [
  ...steps.flatMap(step => String(step.with?.['command'] ?? '') || []),
  ...[CALL.exec(uses ?? '')?.groups?.['command']].filter(command => command !== undefined),
]
const runsExperiments = (job: Job) => commandIn(job).includes('measure')
const RUNS_OTHERS = /^(?:measure|propose)$/
/** Where a job hands itself over to code that nobody of winnow's wrote; below nought where it never does. */
const handsOverAt = ({ steps }: Job) =>
  steps.findIndex(({ with: given }) => RUNS_OTHERS.test(String(given?.['command'] ?? '')))

/** What jobs of one run hand to each other: as which input, in which artifact, by a job with which command. */
const HANDED_ON = [
  { input: 'answers', artifact: 'winnow-propose', file: 'answers.json', by: 'propose' },
  { input: 'scores', artifact: 'winnow-judge', file: 'scores.json', by: 'judge' },
  { input: 'items', artifact: 'winnow-items', file: 'items.json', by: 'tick' },
] as const

function jobIn({ jobs }: Workflow, name: string): Job {
  const job = jobs[name]
  if (job === undefined) throw new Error(`there is no job ${name}`)
  return job
}

const WORKFLOW_RULES: Readonly<Record<string, Rule>> = {
  'top-level permissions are none': ({ workflow }) =>
    JSON.stringify(workflow.permissions) === '{}' ? [] : ['permissions'],

  'every job says its permissions, and a reason stands beside each': ({ workflow, text }) => [
    ...jobsOf(workflow).flatMap(([name, { permissions }]) => (permissions === undefined ? [name] : [])),
    ...text.split('\n').filter(line => /^ {6}[a-z-]+: (?:read|write)\b/.test(line) && !/ # \w/.test(line)),
  ],

  'writing is for jobs that run winnow alone': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      const writes = Object.values(granted(job)).some(level => level.startsWith(WRITES))
      const trusted = commandIn(job).length > 0 && commandIn(job).every(command => COMMAND.test(command))
      return writes && (!trusted || job.steps.some(({ run }) => run !== undefined)) ? [name] : []
    }),

  'actions are pinned to commits, and taken from the trusted side': ({ workflow }) => [
    ...stepsOf(workflow).flatMap(({ name, step }) => (isPinned(step) ? [] : [`${name}: ${step.uses}`])),
    ...jobsOf(workflow).flatMap(([name, { uses }]) =>
      uses === undefined || isCallPinned(uses) ? [] : [`${name}: ${uses}`],
    ),
  ],

  'a call hands over what its workflow asks for, and no secret': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (job.uses === undefined) return []
      const handed = Object.entries(job.with ?? {})
      const asked = handed.every(([key, value]) => HANDED_OVER[key]?.test(String(value)) === true)
      return asked && job.secrets === undefined ? [] : [name]
    }),

  'no credential stays in a clone': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) =>
      step.uses?.startsWith('actions/checkout@') === true && step.with?.['persist-credentials'] !== false
        ? [name]
        : [],
    ),

  'a trusted job checks out no head of anybody': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) => {
      const ref = String(step.with?.['ref'] ?? '')
      const safe = ref === '' || /^\$\{\{ github\.event\.repository\.default_branch \}\}$/.test(ref)
      return step.uses?.startsWith('actions/checkout@') === true && !safe ? [`${name}: ${ref}`] : []
    }),

  'no expression stands in a script': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) => (FROM_OUTSIDE.test(step.run ?? '') ? [name] : [])),

  'no trigger gives strangers a token that writes': ({ workflow }) => {
    const dangerous = Object.keys(workflow.on).filter(event => event === 'pull_request_target')
    const strangers = ['pull_request', 'pull_request_review'].some(event => event in workflow.on)
    const power = jobsOf(workflow).filter(([, job]) => JSON.stringify(job.permissions) !== '{}')
    return [...dangerous, ...(strangers ? power.map(([name]) => name) : [])]
  },

  'a workflow that follows another looks at its path, not its name, and takes nothing from it': ({
    workflow,
    text,
  }) => {
    if (!('workflow_run' in workflow.on)) return []
    const unguarded = jobsOf(workflow).filter(
      ([, job]) => !('needs' in job) && !/github\.event\.workflow_run\.path/.test(job.if ?? ''),
    )
    const taken = [...text.matchAll(/github\.event\.workflow_run\.(?!path\b)(\w+)|run-id:/g)].map(
      ([what]) => what,
    )
    return [...unguarded.map(([name]) => name), ...taken]
  },

  'a condition is one expression': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) =>
      [job.if, ...job.steps.map(step => step['if'])].some(
        condition => typeof condition === 'string' && /\$\{\{|\n/.test(condition.trim()),
      )
        ? [name]
        : [],
    ),

  'secrets are for jobs that ask models, behind an environment': ({ workflow, text }) => {
    const jobs = jobsOf(workflow).flatMap(([name, job]) => {
      if (!JSON.stringify(job).includes('secrets.')) return []
      const asks = commandIn(job).length > 0 && commandIn(job).every(command => ASKS.test(command))
      return asks && job.environment !== undefined ? [] : [name]
    })
    const everywhere = JSON.stringify([workflow.env ?? {}]).includes('secrets.') ? ['env'] : []
    return [...jobs, ...everywhere, ...(/secrets: inherit/.test(text) ? ['secrets: inherit'] : [])]
  },

  'what runs experiments gets no token': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (!runsExperiments(job)) return []
      const more = Object.entries(granted(job)).filter(
        ([what, level]) => what !== 'contents' || level !== 'read',
      )
      const held = job.steps.filter(step =>
        /github\.token|GITHUB_TOKEN|secrets\.|app-token/.test(
          JSON.stringify([step.with ?? {}, step.env ?? {}]),
        ),
      )
      const all = JSON.stringify(job.env ?? {}).includes('token')
      return more.length > 0 || held.length > 0 || all || 'environment' in job ? [name] : []
    }),

  'what asks proposers reads the repository, holds one secret in one step, and no token': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (!commandIn(job).includes('propose')) return []
      const at = handsOverAt(job)
      const key = { WINNOW_MODEL_KEY: '$' + '{{ secrets.WINNOW_MODEL_KEY }}' }
      const held = job.steps.filter((step, index) => {
        const said = JSON.stringify([step.with ?? {}, step.env ?? {}])
        return index === at
          ? JSON.stringify(step.env) !== JSON.stringify(key) || /github\.token|app-token/.test(said)
          : /secrets\.|github\.token|GITHUB_TOKEN|app-token/.test(said)
      })
      const reads = JSON.stringify(granted(job)) === '{"contents":"read"}'
      return reads && held.length === 0 && job.env === undefined ? [] : [name]
    }),

  'what asks models for scores runs winnow alone, reads the repository, and holds one secret in one step': ({
    workflow,
  }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (!commandIn(job).includes('judge')) return []
      const env = {
        WINNOW_MODEL_URL: '$' + '{{ vars.WINNOW_MODEL_URL }}',
        WINNOW_MODEL_PRICE: '$' + '{{ vars.WINNOW_MODEL_PRICE }}',
        WINNOW_MODEL_KEY: '$' + '{{ secrets.WINNOW_MODEL_KEY }}',
      }
      const held = job.steps.filter(step => {
        const said = JSON.stringify([step.with ?? {}, step.env ?? {}])
        return step.with?.['command'] === 'judge'
          ? JSON.stringify(step.env) !== JSON.stringify(env) || /github\.token|app-token/.test(said)
          : /secrets\.|github\.token|GITHUB_TOKEN|app-token/.test(said)
      })
      const others = job.steps.filter(
        ({ uses = '', with: given }) => given?.['command'] !== 'judge' && !uses.startsWith('actions/'),
      )
      const reads = JSON.stringify(granted(job)) === '{"contents":"read"}'
      return reads && held.length + others.length === 0 && job.env === undefined ? [] : [name]
    }),

  'answers come from the job of the same run that asked, to a job after it': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      const fetched = job.steps
        .filter(({ uses }) => uses?.startsWith('actions/download-artifact@'))
        .map(step => String(step.with?.['name']))
      const taken = HANDED_ON.filter(({ input }) => job.steps.some(step => step.with?.[input] !== undefined))
      const right = taken.every(({ input, artifact, file, by }) => {
        const from = Object.keys(workflow.jobs).filter(other =>
          commandIn(jobIn(workflow, other)).includes(by),
        )
        const after = from.some(other => other !== name && [job['needs']].flat().includes(other))
        const path = '$' + `{{ runner.temp }}/${artifact}/${file}`
        const paths = job.steps.flatMap(step => String(step.with?.[input] ?? '') || [])
        return after && fetched.includes(artifact) && paths.every(each => each === path)
      })
      const known = fetched.every(each => taken.some(({ artifact }) => artifact === each))
      return right && known ? [] : [name]
    }),

  'whoever asks models says so itself where there is nothing to ask about: else it counts as having spent': ({
    workflow,
  }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (!commandIn(job).includes('judge')) return []
      const fetches = job.steps.filter(({ uses }) => uses?.startsWith('actions/download-artifact@'))
      const asks = job.steps.find(step => step.with?.['command'] === 'judge')
      const goOn = fetches.every(step => step['continue-on-error'] === true && step['if'] === undefined)
      return goOn && asks?.['if'] === undefined ? [] : [name]
    }),

  "what runs code of others has given up root before, or users for it, on runners that are not its owner's":
    ({ workflow }) =>
      jobsOf(workflow).flatMap(([name, job]) => {
        const at = handsOverAt(job)
        const [earlier, before] = [job.steps[at - 2], job.steps[at - 1]]
        const settled =
          isGivingUp(before, HOSTED) ||
          (runsExperiments(job) && isMakingUsers(before, HOSTED)) ||
          (runsExperiments(job) &&
            isMakingUsers(earlier, `inputs.users && ${HOSTED}`) &&
            isGivingUp(before, `${HOSTED} && !inputs.users`))
        return at < 0 || settled ? [] : [name]
      }),

  'after code of others nothing runs but handing its file over': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      const at = handsOverAt(job)
      const after = at < 0 ? [] : job.steps.slice(at + 1)
      return after.every(({ uses }) => uses?.startsWith('actions/upload-artifact@') === true) &&
        after.length < 2
        ? []
        : [name]
    }),

  'what runs experiments is never on the default branch, and starts by dispatch alone': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      if (!runsExperiments(job)) return []
      const guarded = /github\.ref_name != github\.event\.repository\.default_branch/.test(job.if ?? '')
      const on = Object.keys(workflow.on).join()
      const called = on === 'workflow_call' && /github\.event_name == 'workflow_dispatch'/.test(job.if ?? '')
      return guarded && (on === 'workflow_dispatch' || called) ? [] : [name]
    }),

  'artifacts are fetched outside the clone, by name, from this run': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) => {
      if (step.uses?.startsWith('actions/download-artifact@') !== true) return []
      const { name: artifact, path } = step.with ?? {}
      const outside = String(path ?? '').startsWith('$' + '{{ runner.temp }}/')
      return artifact !== undefined && outside && step.with?.['run-id'] === undefined ? [] : [name]
    }),

  'what is uploaded is one file that a step named': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) => {
      if (step.uses?.startsWith('actions/upload-artifact@') !== true) return []
      const { path, overwrite } = step.with ?? {}
      const one = /^\$\{\{ steps\.[a-z]+\.outputs\.(?:report|items) \}\}$/.test(String(path))
      return one && overwrite === undefined && step.with?.['if-no-files-found'] === 'error' ? [] : [name]
    }),

  'what a job that writes could not write is handed over, however its step ended': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) => {
      const at = job.steps.findIndex(({ with: given }) => given?.['command'] === 'tick')
      if (at < 0) return []
      const { id } = job.steps[at] ?? {}
      const [next, ...more] = job.steps.slice(at + 1)
      const kept =
        next?.['if'] === `always() && steps.${String(id)}.outputs.report != ''` &&
        next.with?.['path'] === `\${{ steps.${String(id)}.outputs.report }}` &&
        next.with['name'] === `\${{ steps.${String(id)}.outputs.artifact }}`
      const handsOn = more.every(
        ({ with: given }) => given?.['path'] === `\${{ steps.${String(id)}.outputs.items }}`,
      )
      return kept && handsOn && more.length < 2 ? [] : [name]
    }),

  'caches are only restored, and only where nothing is trusted': ({ workflow }) =>
    stepsOf(workflow).flatMap(({ name, step }) =>
      /^actions\/cache(?:\/save)?@/.test(step.uses ?? '') || (step.with?.['cache'] ?? false) !== false
        ? [name]
        : [],
    ),

  'writers wait in one line with a literal name, everybody else in none': ({ workflow }) => [
    ...(workflow.concurrency === undefined ? [] : ['the whole workflow']),
    ...jobsOf(workflow).flatMap(([name, job]) => {
      // A group that its caller holds as well is a deadlock: who calls waits in no line. Nor does who brings answers:
      // of those that wait in one only the last is kept, and nobody else has them.
      const wanted =
        commandIn(job).some(command => WRITES_LEDGER.test(command)) &&
        job.uses === undefined &&
        name !== 'settle'
          ? JSON.stringify({ group: 'winnow-tick', 'cancel-in-progress': false })
          : undefined
      return JSON.stringify(job.concurrency) === wanted ? [] : [name]
    }),
  ],

  'every job has an end': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) =>
      CALL.test(job.uses ?? '') || ((job['timeout-minutes'] ?? 0) > 0 && (job['timeout-minutes'] ?? 0) < 360)
        ? []
        : [name],
    ),

  'nothing is obeyed that is printed': ({ text }) =>
    [...text.matchAll(/ACTIONS_ALLOW_UNSECURE_COMMANDS|GITHUB_ENV|GITHUB_PATH/g)].map(([what]) => what),

  'a pause is seen before anything starts': ({ workflow }) =>
    jobsOf(workflow).flatMap(([name, job]) =>
      'needs' in job || runsExperiments(job) || /vars\.WINNOW_PAUSED/.test(job.if ?? '') ? [] : [name],
    ),
}

const HOSTED = "runner.environment == 'github-hosted' && runner.os == 'Linux'"

/** Through which everybody's programs are found, and GitHub's images let everybody write. */
const CLOSES =
  'for folder in /opt /usr/share; do\n  if test -e "$folder"; then sudo chmod -R o-w "$folder"; fi\ndone\n'

function isGivingUp(step: Step | undefined, when: string): boolean {
  const run = step?.run ?? ''
  const checked = /sudoers\.d\/zz-winnow[^]*if sudo -n true[^]*exit 1/.test(run)
  return checked && run.startsWith(CLOSES) && step?.['if'] === when
}

/** Nothing but that, in groups of their own, with no way to log in; and one that fails, fails the step. */
const MAKES_USERS =
  /^sudo sh -ec 'for n in [1-6 ]+; do useradd --system --user-group --no-create-home --home-dir \/nonexistent --shell \/usr\/sbin\/nologin winnow-\$n; done'\n?$/

function isMakingUsers(step: Step | undefined, when: string): boolean {
  const run = step?.run ?? ''
  return run.startsWith(CLOSES) && MAKES_USERS.test(run.slice(CLOSES.length)) && step?.['if'] === when
}

function isPinned({ uses }: Step): boolean {
  return uses === undefined || PINNED.test(uses) || TRUSTED_SIDE.test(uses)
}

/** A job's set-up from the default branch, and the action at the commit of the very file that names it. */
const TRUSTED_SIDE = /^(?:\.\/trusted\/\.github\/actions\/winnow-(?:setup|agents)|\$\/)$/

function isCallPinned(uses: string): boolean {
  const { at } = CALL.exec(uses)?.groups ?? {}
  return CALL.test(uses) && (at !== undefined) !== uses.startsWith('./')
}

export const RULES = Object.keys(WORKFLOW_RULES)

export function findingsIn(text: string, only: readonly string[] = RULES): Finding[] {
  const workflow = parsedWorkflow(text)
  return only.flatMap(rule =>
    (WORKFLOW_RULES[rule]?.({ workflow, text }) ?? []).map(where => ({ rule, where })),
  )
}

/** The steps of a composite action: what holds for those of a job. */
export function findingsInAction(text: string): Finding[] {
  const steps = JSON.stringify(stepsOfAction(text))
  const job = `{"permissions":{},"timeout-minutes":1,"if":"vars.WINNOW_PAUSED","steps":${steps}}`
  return findingsIn(`{"on":{"workflow_dispatch":{}},"permissions":{},"jobs":{"action":${job}}}`)
}
