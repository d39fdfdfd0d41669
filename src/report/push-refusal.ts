import { toShortRef } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'

interface PushRefusal {
  message: string
  rule?: string
}

interface PushContext {
  refs: readonly string[]
  optimize: string
  prefix: string
  /** The push of a command that starts a campaign is refused before there is one to resume. */
  isStarted: boolean
  /** `merge.via: api` is an alternative. */
  couldMerge: boolean
}

/** Only syncs can use an App token for workflow files, and a refused sync has its own message. */
const PERSON_FIX =
  "A job's token cannot push workflow files: merge that file into the default branch yourself"

const RULE = /\b(GH\d{3}): .*? for (\S+?)\.?$/m
const WORKFLOW =
  /refusing to allow (?:a|an) .+? to create or update workflow `([^`]+)` without `(workflows?)` (permission|scope)/

/** Always ends with the whole message of the remote. */
export function renderPushRefusal(refusal: PushRefusal, context: PushContext): string {
  const { what, fix } = explainPushRefusal(refusal, context)
  const branches = findRefusedRefs(refusal, context).map(toShortRef).join(', ')
  const next = context.isStarted ? 'run winnow resume' : 'repeat the command'
  return `the remote rejected the push to ${branches}: ${what}. ${fix}, then ${next}\n${refusal.message}`
}

function findRefusedRefs({ message }: PushRefusal, { refs }: PushContext): readonly string[] {
  const [, , named = ''] = RULE.exec(message) ?? []
  const found = refs.filter(ref => ref === named || toShortRef(ref) === named)
  return found.length > 0 ? found : refs
}

function explainPushRefusal(refusal: PushRefusal, context: PushContext): { what: string; fix: string } {
  const { message, rule } = refusal
  const [, path, permission = '', kind = ''] = WORKFLOW.exec(message) ?? []
  if (path !== undefined) {
    const what = `a commit changes the workflow ${path}, and this token lacks the ${kind} ${permission}`
    return { what, fix: kind === 'scope' ? `Push with a token that has the scope ${permission}` : PERSON_FIX }
  }
  const broken = listBrokenRules(message)
  const named = broken.length === 0 ? '' : `: ${broken.join('; ')}`
  if (rule === 'GH006') {
    const fix = describeRuleFix('branch protection', broken, context)
    return { what: `GH006, the branch is protected${named}`, fix }
  }
  if (rule === 'GH013') {
    const fix = describeRuleFix('ruleset', broken, context)
    return { what: `GH013, a repository rule forbids it${named}`, fix }
  }
  return { what: 'its answer is below', fix: 'Allow winnow to push to its branches' }
}

/** GitHub lists the broken rules one per line, each after a dash. */
function listBrokenRules(message: string): string[] {
  const lines = message.split('\n').flatMap(line => /^- (.+?)\.?$/.exec(line.trim())?.[1] ?? [])
  return lines.slice(0, 5).map(line => toOneLine(line, 200))
}

function describeRuleFix(kind: string, broken: readonly string[], context: PushContext): string {
  const { prefix, optimize, couldMerge, refs } = context
  const bypass = `Exclude ${prefix}*/** from that ${kind}, or let the account that winnow pushes with bypass it`
  const merges = couldMerge && refs.includes(optimize) && broken.some(one => /pull request/i.test(one))
  return merges ? `${bypass}, or set merge.via: api, so that GitHub merges pull requests` : bypass
}
