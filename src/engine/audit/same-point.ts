import type { Point } from '../../model/ids.ts'

export function isSamePoint(a: Point, b: Point): boolean {
  return a.commit === b.commit && a.tree === b.tree
}
