/** How many items a page has where nothing is said, and at the most. */
export const pageSizes = { defaultSize: 20, maxSize: 100 } as const;
