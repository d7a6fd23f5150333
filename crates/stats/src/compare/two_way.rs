//! Least squares in a table of rows and columns with missing cells.

/// A small weight for each column's effect, which fixes the level of these effects. Without a chain of shared columns, the
/// difference of two rows is uncertain by a factor of e^10. It has no other visible effect.
const TIE: f64 = 1e-2;

/// A cell of the table. Its weight is the inverse of the variance of its value.
pub(super) struct Cell {
    pub row: usize,
    pub column: usize,
    pub weight: f64,
}

/// The model `value = row + column + rest`. Several cells may share a position.
pub(super) struct TwoWay<'a> {
    cells: &'a [Cell],
    by_column: Vec<f64>,
    crossed: Vec<Vec<f64>>,
    /// Covariance of the rows' levels.
    pub covariance: Vec<Vec<f64>>,
}

pub(super) struct Fit {
    /// Level of each row.
    pub rows: Vec<f64>,
    /// Effect of each column; their level is that of rows that share columns.
    pub columns: Vec<f64>,
    /// Residual of each cell, beyond row and column.
    pub rest: Vec<f64>,
}

impl<'a> TwoWay<'a> {
    pub fn new(cells: &'a [Cell], rows: usize, columns: usize) -> Self {
        let mut by_column = vec![TIE; columns];
        let mut crossed = vec![vec![0.0; columns]; rows];
        for cell in cells {
            by_column[cell.column] += cell.weight;
            crossed[cell.row][cell.column] += cell.weight;
        }
        let mut normal = vec![vec![0.0; rows]; rows];
        for (a, line) in crossed.iter().enumerate() {
            let shares: Vec<f64> =
                line.iter().zip(&by_column).map(|(own, all)| own / all).collect();
            for (b, other) in crossed[..=a].iter().enumerate() {
                let own = if a == b { line.iter().sum() } else { 0.0 };
                normal[a][b] = own - dot(&shares, other);
            }
        }
        let covariance = inverse(normal).0;
        Self { cells, by_column, crossed, covariance }
    }

    /// The share of a cell in the weight of its column.
    pub fn share(&self, cell: &Cell) -> f64 {
        cell.weight / self.by_column[cell.column]
    }

    pub fn fit(&self, values: &[f64]) -> Fit {
        let all: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        let weighted = self.cells.iter().zip(values).map(|(cell, value)| cell.weight * value);
        let level = weighted.sum::<f64>() / all.max(TIE);
        let mut of_rows = vec![0.0; self.crossed.len()];
        let mut of_columns = vec![0.0; self.by_column.len()];
        for (cell, value) in self.cells.iter().zip(values) {
            let value = cell.weight * (value - level);
            of_rows[cell.row] += value;
            of_columns[cell.column] += value;
        }
        let means: Vec<f64> = of_columns.iter().zip(&self.by_column).map(|(s, w)| s / w).collect();
        let right: Vec<f64> =
            self.crossed.iter().zip(&of_rows).map(|(line, own)| own - dot(line, &means)).collect();
        let rows: Vec<f64> = self.covariance.iter().map(|line| dot(line, &right)).collect();
        let mut columns = of_columns;
        for (line, row) in self.crossed.iter().zip(&rows) {
            columns.iter_mut().zip(line).for_each(|(sum, weight)| *sum -= weight * row);
        }
        columns.iter_mut().zip(&self.by_column).for_each(|(sum, weight)| *sum /= weight);
        let rows: Vec<f64> = rows.iter().map(|row| row + level).collect();
        let cells = self.cells.iter().zip(values);
        let rest = cells.map(|(cell, value)| value - rows[cell.row] - columns[cell.column]);
        Fit { rest: rest.collect(), rows, columns }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Inverts a symmetric positive definite matrix, given its lower triangle, by sweeps (J. H. Goodnight, *A Tutorial on the SWEEP
/// Operator*, The American Statistician 33, 1979). Also returns the logarithm of its determinant.
pub(super) fn inverse(mut matrix: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let mut log_determinant = 0.0;
    for at in 0..matrix.len() {
        let above = matrix[at][..at].iter().copied();
        let column: Vec<f64> = above.chain(matrix[at..].iter().map(|line| line[at])).collect();
        let pivot = column[at];
        log_determinant += pivot.ln();
        for (row, line) in matrix.iter_mut().enumerate() {
            let factor = column[row] / pivot;
            line[..=row].iter_mut().zip(&column).for_each(|(value, own)| *value -= factor * own);
            if row > at {
                line[at] = factor;
            }
        }
        matrix[at][..at].iter_mut().zip(&column).for_each(|(value, own)| *value = own / pivot);
        matrix[at][at] = -1.0 / pivot;
    }
    // Sweeping leaves the negative inverse, of which only the lower triangle is stored.
    let size = matrix.len();
    let at = |row: usize, column: usize| -matrix[row.max(column)][row.min(column)];
    let inverse = (0..size).map(|row| (0..size).map(|column| at(row, column)).collect()).collect();
    (inverse, log_determinant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_times_inverse_is_identity() {
        let matrix = vec![vec![4.0, 1.0, 2.0], vec![1.0, 3.0, 0.5], vec![2.0, 0.5, 5.0]];
        let mut lower = matrix.clone();
        (lower[0][1], lower[0][2], lower[1][2]) = (f64::NAN, f64::NAN, f64::NAN);
        let (inverse, log_determinant) = inverse(lower);
        for (at, line) in matrix.iter().enumerate() {
            for (column, other) in inverse.iter().enumerate() {
                let expected = f64::from(u8::from(at == column));
                assert!((dot(line, other) - expected).abs() < 1e-12, "{inverse:?}");
            }
        }
        assert!((log_determinant - 44.0_f64.ln()).abs() < 1e-12, "{log_determinant}");
    }
}
