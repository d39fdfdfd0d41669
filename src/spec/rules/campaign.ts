import type { SpecFinding } from '../problem.ts'
import { getGivenValue } from '../prepare.ts'
import { createSpecFinding, findRepeatedIndexes, type RuleContext } from './rule.ts'

export function requireSinglePlateauKey({ raw }: RuleContext): SpecFinding[] {
  const both = ['plateau', 'plateau_iterations'].every(
    key => getGivenValue(raw, ['stopping', key]) !== undefined,
  )
  if (!both) return []
  const path = ['stopping', 'plateau_iterations']
  return [
    createSpecFinding(
      path,
      'plateau and plateau_iterations',
      'one of them',
      'remove one; they mean the same',
      'key',
    ),
  ]
}

export function checkCommandProposers({ spec }: RuleContext): SpecFinding[] {
  return spec.propose.flatMap((proposer, index) => {
    if (proposer.use !== 'command') return []
    const ways = [proposer.command, proposer.preset].filter(way => way !== undefined).length
    if (ways === 1) return []
    const found = ways === 0 ? 'neither command nor preset' : 'command and preset'
    return [
      createSpecFinding(
        ['propose', index],
        found,
        'one of them',
        'write command: <program>, or preset: <agent>',
      ),
    ]
  })
}

export function requireUniqueArtifacts({ spec }: RuleContext): SpecFinding[] {
  const names = spec.artifacts.map(({ name }) => name)
  return findRepeatedIndexes(names).map(index =>
    createSpecFinding(
      ['artifacts', index, 'name'],
      JSON.stringify(names[index]),
      'a name no other artifact has',
      'rename it',
    ),
  )
}
