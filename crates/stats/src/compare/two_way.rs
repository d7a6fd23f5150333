//! Least squares in a table of rows and columns with missing cells.

/// A small weight for each column's effect. It fixes the level of the columns' effects, and makes the difference of rows that
/// share no chain of columns uncertain by a factor of e^10. It has no other visible effect.
const TIE: f64 = 1e-2;

/// A position in the table. The weight is the inverse of the variance of its value.
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
    /// What neither row nor column explains, for each cell.
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
        let share = |a: usize, b: usize| -> f64 {
            let columns = crossed[a].iter().zip(&crossed[b]).zip(&by_column);
            columns.map(|((a, b), weight)| a * b / weight).sum()
        };
        let diagonal = |a: usize| crossed[a].iter().sum::<f64>();
        let normal = (0..rows).map(|a| {
            let line = (0..rows).map(|b| if a == b { diagonal(a) } else { 0.0 } - share(a, b));
            line.collect()
        });
        let covariance = inverse(normal.collect()).0;
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

/// The inverse and the logarithm of the determinant, by Gauss-Jordan elimination without pivoting, as the matrix is symmetric
/// and positive definite.
pub(super) fn inverse(mut matrix: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let mut log_determinant = 0.0;
    for at in 0..matrix.len() {
        let pivot = std::mem::replace(&mut matrix[at][at], 1.0);
        log_determinant += pivot.ln();
        matrix[at].iter_mut().for_each(|value| *value /= pivot);
        let reduced = matrix[at].clone();
        for (_, line) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = std::mem::replace(&mut line[at], 0.0);
            line.iter_mut().zip(&reduced).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (matrix, log_determinant)
}
