import { MODEL_KEY } from '../../measure/secret-names.ts'

/** A job of the workflows: what its token may do and why, and which secrets it gets. */
interface JobRights {
  file: string
  /** What it is called there; the jobs of `measure` are one for each campaign. */
  job: string
  runs: string
  permissions: Readonly<Record<string, readonly [level: 'read' | 'write', reason: string]>>
  secrets: readonly string[]
}

/** Given to the jobs that ask proposers and models, and to no other; its name is the one that they find it under. */
export const MODEL_SECRET = MODEL_KEY
/** The environment that holds it, so that a rule on branches can guard it. */
export const MODEL_ENVIRONMENT = 'winnow-models'

const TICK = {
  actions: ['write', 'to start, cancel and list measuring runs, and to fetch their reports'],
  checks: ['write', 'to show a verdict at the head of a pull request'],
  contents: ['write', "to move winnow's own branches"],
  issues: ['write', 'to react to comments that steer'],
  'pull-requests': ['write', 'to open, describe, comment and close pull requests'],
} as const
const CLONE = { contents: ['read', 'to clone the repository'] } as const

/** The one table of rights: the workflow files are written from it, and so is the page for people. */
export const RIGHTS = {
  tick: { file: 'winnow.yml', job: 'tick', runs: 'winnow alone', permissions: TICK, secrets: [] },
  propose: {
    file: 'winnow.yml',
    job: 'propose',
    runs: 'programs that the spec names, on the best code so far',
    permissions: CLONE,
    secrets: [MODEL_SECRET],
  },
  judge: {
    file: 'winnow.yml',
    job: 'judge',
    runs: 'winnow alone, and asks models about what experiments printed',
    permissions: CLONE,
    secrets: [MODEL_SECRET],
  },
  settle: { file: 'winnow.yml', job: 'settle', runs: 'winnow alone', permissions: TICK, secrets: [] },
  measure: {
    file: 'winnow-measure.yml',
    job: 'measure',
    runs: 'the code of an experiment',
    permissions: CLONE,
    secrets: [],
  },
  wake: { file: 'winnow-wake.yml', job: 'wake', runs: 'nothing', permissions: {}, secrets: [] },
  comment: { file: 'winnow-comments.yml', job: 'tick', runs: 'winnow alone', permissions: TICK, secrets: [] },
} as const satisfies Record<string, JobRights>
export type Rights = keyof typeof RIGHTS

/** The permissions of a job with the reason beside each, at the indentation of a job's keys. */
export function permissionLines(of: Rights): string {
  const { permissions }: JobRights = RIGHTS[of]
  const lines = Object.entries(permissions).map(([name, [level, why]]) => `      ${name}: ${level} # ${why}`)
  return lines.length === 0 ? '    permissions: {}' : ['    permissions:', ...lines].join('\n')
}

/** The same for people, as a table in Markdown. */
export function permissionTable(): string {
  const rows = Object.values<JobRights>(RIGHTS).map(({ file, job, runs, permissions, secrets }) => {
    const granted = Object.entries(permissions).map(([name, [level, why]]) => `\`${name}: ${level}\` ${why}`)
    const held = secrets.map(name => `\`${name}\``)
    return `| \`${file}\` | ${job} | ${runs} | ${granted.join('<br>') || 'none'} | ${held.join(', ') || 'none'} |`
  })
  return ['| file | job | runs | its token may | secrets |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** The table in short, without reasons: for whoever asks first what winnow wants. Jobs with the same rights share a row. */
export function permissionSummary(): string {
  const jobs = new Map<string, string[]>()
  for (const { file, job, permissions, secrets } of Object.values<JobRights>(RIGHTS)) {
    const granted = Object.entries(permissions).map(([name, [level]]) => `${name}: ${level}`)
    const holds = [...granted, ...secrets].map(each => `\`${each}\``).join(', ') || 'nothing'
    jobs.set(holds, [...(jobs.get(holds) ?? []), `\`${file}\` ${job}`])
  }
  const rows = [...jobs].map(([holds, of]) => `| ${of.join(', ')} | ${holds} |`)
  return ['| file and job | gets |', '|---|---|', ...rows].join('\n')
}
