import { describe, expect, it } from 'vitest'
import { formatMetricChange, formatNumber } from '../../src/decide/wording.ts'

describe('a number', () => {
  it.each([
    [3_316_386, '3316386'],
    [-123_456_789_012_345, '-123456789012345'],
    [3_316_386.5, '3316387'],
    [123.456789, '123.457'],
    [0.000123456789, '0.000123457'],
    [1_234_567_890_123_456, '1234570000000000'],
    [0, '0'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('%d is shown as %s: a count in full, a fraction with six digits', (value, text) => {
    expect(formatNumber(value)).toBe(text)
  })

  it('is shown in full in a change as well', () => {
    expect(formatMetricChange('bytes', 3_316_386, 3_316_380)).toBe('bytes 3316386 -> 3316380 (-0.00018 %)')
  })
})
