// One operation of ViennaCL per line of input, timed by the host's clock: prints seconds, first the device's name.
#define CL_TARGET_OPENCL_VERSION 120
#define VIENNACL_WITH_OPENCL
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/ocl/backend.hpp>
#include <viennacl/vector.hpp>

int main(int, char **words)
{
  const std::size_t n = std::strtoul(words[1], nullptr, 10), rows = std::strtoul(words[2], nullptr, 10);
  typedef viennacl::vector<double> Vector;
  std::vector<Vector> v;
  for (int k = 0; k < 6; k++)
    v.push_back(viennacl::scalar_vector<double>(n, 0.5));
  viennacl::matrix<double> matrix = viennacl::scalar_matrix<double>(rows, rows, 0.5);
  Vector in = viennacl::scalar_vector<double>(rows, 0.5), out = viennacl::scalar_vector<double>(rows, 0.0);
  const double a = 1e-3;
  volatile double number;
  std::cout << viennacl::ocl::current_device().name() << std::endl;
  for (std::string name; std::getline(std::cin, name);) {
    viennacl::backend::finish();
    const auto began = std::chrono::steady_clock::now();
    if (name == "vecaxpy")
      v[1] += a * v[0];
    else if (name == "vecscale")
      v[0] *= 0.999;
    else if (name == "vecwaxpy")
      v[2] = v[1] + a * v[0];
    else if (name == "vecmaxpy") {  // the library has operations for two vectors at a time
      v[4] += a * v[0] + a * v[1];
      v[4] += a * v[2] + a * v[3];
    } else if (name == "dot")
      number = viennacl::linalg::inner_prod(v[0], v[1]);
    else if (name == "norm")
      number = viennacl::linalg::norm_2(v[0]);
    else if (name == "matvec")
      out = viennacl::linalg::prod(matrix, in);
    else
      return 2;
    viennacl::backend::finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::cout << took.count() << std::endl;
  }
  (void)number;
  return 0;
}
