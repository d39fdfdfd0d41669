import type { Addition } from '../model/approval.ts'
import { additionText, packagesText } from '../model/approval.ts'
import type { Spec } from '../spec/schema.ts'

type Rules = Spec['dependencies']

/** Names that nobody has allowed yet: the spec approves by name, whatever the version. */
export function notInSpec({ approved }: Pick<Rules, 'approved'>, names: readonly string[]): string[] {
  return [...new Set(names)].filter(name => !approved.includes(name))
}

/** What no approval can let in, as the spec has it; null where a person may be asked. */
export function refusedAdditions(
  rules: Rules,
  additions: readonly Addition[],
): { code: 'dependencies'; message: string } | null {
  const names = notInSpec(
    rules,
    additions.map(each => each.name),
  )
  const unknown = additions.filter(each => names.includes(each.name))
  if (unknown.length > 0 && rules.approval === 'deny') {
    const message = `adds ${packagesText(names, additions)}, and dependencies.approval is deny`
    return { code: 'dependencies', message }
  }
  const scripted = rules.allow_scripts ? undefined : unknown.find(each => each.scripts === true)
  if (scripted === undefined) return null
  const message = `adds ${additionText(scripted)}, which runs install scripts: set dependencies.allow_scripts to have it reviewed, or name it in dependencies.approved`
  return { code: 'dependencies', message }
}
