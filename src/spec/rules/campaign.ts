import type { Finding } from '../problem.ts'
import { given } from '../prepare.ts'
import { finding, repeated, type RuleContext } from './rule.ts'

export function onePlateau({ raw }: RuleContext): Finding[] {
  const both = ['plateau', 'plateau_iterations'].every(key => given(raw, ['stopping', key]) !== undefined)
  if (!both) return []
  const path = ['stopping', 'plateau_iterations']
  return [
    finding(path, 'plateau and plateau_iterations', 'one of them', 'remove one; they mean the same', 'key'),
  ]
}

export function commandProposersStart({ spec }: RuleContext): Finding[] {
  return spec.propose.flatMap((proposer, index) => {
    if (proposer.use !== 'command') return []
    const ways = [proposer.command, proposer.preset].filter(way => way !== undefined).length
    if (ways === 1) return []
    const found = ways === 0 ? 'neither command nor preset' : 'command and preset'
    return [finding(['propose', index], found, 'one of them', 'write command: <program>, or preset: <agent>')]
  })
}

export function artifactsUnique({ spec }: RuleContext): Finding[] {
  const names = spec.artifacts.map(({ name }) => name)
  return repeated(names).map(index =>
    finding(
      ['artifacts', index, 'name'],
      JSON.stringify(names[index]),
      'a name no other artifact has',
      'rename it',
    ),
  )
}
