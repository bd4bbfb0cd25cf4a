/** A share from 0 to 1 with one decimal: only all and nothing are shown as 100 % and 0 %. */
export function formatShare(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)} %`
}
